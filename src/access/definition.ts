/**
 * Who may see what, as an operator writes it (docs/roles.md). Row filters are OData filter texts over the
 * dictionary, so that a role reads like a query.
 */
export interface RoleDefinition {
  readonly name: string;
  /** The visibility classes whose fields the role sees; `open` is always among them. */
  readonly classes: 'all' | readonly string[];
  /** True for a role that also sees what a seller withholds from the public. */
  readonly seesWithheld?: boolean;
  /**
   * The resources the role may read, each with a row filter (`''` for every row). A child is seen only with
   * its parent, whatever stands here. `'all'`: every resource, every row.
   */
  readonly resources: 'all' | Readonly<Record<string, string>>;
}

/** Classes whose fields read as null in the rows where the filter does not hold. */
export interface WithheldDefinition {
  readonly resource: string;
  readonly classes: readonly string[];
  readonly shownWhen: string;
}

export interface AccessDefinition {
  readonly roles: readonly RoleDefinition[];
  readonly withheld: readonly WithheldDefinition[];
}
