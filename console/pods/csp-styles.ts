/**
 * Makes xterm.js work under a Content-Security-Policy without `unsafe-inline`. Style elements and attributes are
 * blocked by the policy, so they are replaced by the CSS object model.
 */

/** Returns a replacement for a style element. Its text becomes a constructed style sheet. */
function styleStandIn(): HTMLElement {
  const sheet = new CSSStyleSheet();
  const element = Document.prototype.createElement.call(document, 'meta');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

/** Calls `open` and replaces its style elements. xterm's `documentOverride` is incomplete (6.0.0). */
export function withStrictStyles(open: () => void): void {
  allowStyledSpans();
  document.createElement = (name: string) =>
    name === 'style' ? styleStandIn() : Document.prototype.createElement.call(document, name);
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, 'createElement');
  }
}

/** xterm creates coloured cells later, one by one (`DomRendererRowFactory`). */
function allowStyledSpans(): void {
  HTMLSpanElement.prototype.setAttribute = function setAttribute(name: string, value: string): void {
    if (name === 'style') this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
}
