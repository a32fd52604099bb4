export {
  hashToken,
  KEY_KINDS,
  type KeyKind,
  type KeyRecord,
  keyValidity,
  looksLikeToken,
  makeKeyId,
  makeToken,
  withoutTokens,
} from './keys.ts';
export { assignBits, MOST_BITS, type RoleBits, reusedBits } from './role-bits.ts';
export {
  type AccessDefinition,
  BUILT_IN_ACCESS,
  type RoleDefinition,
  type WithheldDefinition,
} from './roles.ts';
export {
  type AccessRules,
  mustNameClasses,
  type Role,
  type RowRule,
  resolveAccess,
  type WithheldRule,
} from './rules.ts';
export { makeView, type RowScope, tracksChanges, type View } from './view.ts';
