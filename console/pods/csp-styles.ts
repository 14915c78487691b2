/**
 * xterm.js under a Content-Security-Policy without `unsafe-inline`: it writes style elements and style attributes, which the policy
 * refuses; the same through the CSS object model is let pass.
 */

/** What stands for a style element: its text becomes a constructed style sheet of the page. */
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

/** Calls `open`; style elements that it makes are style sheets. (`documentOverride` does not reach xterm's viewport, 6.0.0.) */
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

/** Cells of a colour of their own are made later, one by one (`DomRendererRowFactory`). */
function allowStyledSpans(): void {
  HTMLSpanElement.prototype.setAttribute = function setAttribute(name: string, value: string): void {
    if (name === 'style') this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
}
