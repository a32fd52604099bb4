export {
  type CsdlResource,
  type CsdlSource,
  csdlDocument,
  customTypeName,
  EDM_NAMESPACE,
  enumName,
  type LookupMember,
  statedType,
} from './document.ts';
export { csdlJson } from './json.ts';
export type { CsdlDocument, CsdlVersion } from './model.ts';
export { csdlXml } from './xml.ts';
