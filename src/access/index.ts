export { BUILT_IN_ACCESS } from './built-in.ts';
export type { AccessDefinition, RoleDefinition, WithheldDefinition } from './definition.ts';
export {
  hashToken,
  judgeKey,
  KEY_KINDS,
  type KeyKind,
  type KeyRecord,
  type KeyVerdict,
  looksLikeToken,
  makeKeyId,
  makeToken,
} from './keys.ts';
export { type AccessRules, type Role, type RowRule, resolveAccess, type WithheldRule } from './rules.ts';
export { makeView, type RowScope, type View, type ViewSource } from './view.ts';
