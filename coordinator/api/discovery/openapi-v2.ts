/**
 * An empty OpenAPI v2 document. kubectl requests it when it gets a `List`, accepts kinds that it does not find there,
 * and leaves the validation of each item to the server.
 */
import protobuf from 'protobufjs';

const INFO = { title: 'Everynode', version: 'v1' };
/** Media type of gnostic's `openapiv2.Document`. */
const MEDIA_TYPE = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

interface OpenApiV2 {
  bytes: Buffer;
  contentType: string;
}

const AS_JSON: OpenApiV2 = {
  bytes: Buffer.from(JSON.stringify({ swagger: '2.0', info: INFO, paths: {}, definitions: {} })),
  contentType: 'application/json',
};
const AS_PROTOBUF: OpenApiV2 = { bytes: encoded(), contentType: MEDIA_TYPE };

/** Field numbers: gnostic `openapiv2/OpenAPIv2.proto`: Document.swagger 1, Document.info 2, Info.title 1, Info.version 2. */
function encoded(): Buffer {
  const document = protobuf.Writer.create();
  document.uint32(0x0a).string('2.0');
  document.uint32(0x12).fork().uint32(0x0a).string(INFO.title).uint32(0x12).string(INFO.version).ldelim();
  return Buffer.from(document.finish());
}

/** Returns the document in the form that the `Accept` header requests. */
export function openApiV2(accept: string | undefined): OpenApiV2 {
  return accept?.includes(MEDIA_TYPE) ? AS_PROTOBUF : AS_JSON;
}
