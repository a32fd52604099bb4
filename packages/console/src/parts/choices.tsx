/** Controls with which a person chooses: one of several values, or whether something applies. */
import type { ComponentChildren } from 'preact';

/** A value and, if it differs, its title. */
type Choice = string | readonly [value: string, title: string];

export const Options = ({ of }: { readonly of: readonly Choice[] }) => (
  <>
    {of.map((each) => {
      const [value, title] = typeof each === 'string' ? [each, each] : each;
      return (
        <option key={value} value={value}>
          {title}
        </option>
      );
    })}
  </>
);

interface SelectProps {
  readonly id?: string;
  readonly 'aria-label'?: string;
  readonly 'aria-labelledby'?: string;
  readonly value: string;
  readonly choose: (value: string) => void;
  readonly options?: readonly Choice[];
  /** Options that come first. */
  readonly children?: ComponentChildren;
}

export const Select = ({ choose, options = [], children, ...given }: SelectProps) => (
  <select {...given} onChange={({ currentTarget }) => choose(currentTarget.value)}>
    {children}
    <Options of={options} />
  </select>
);

interface CheckProps {
  readonly isOn: boolean;
  readonly set: (isOn: boolean) => void;
  readonly isFixed?: boolean;
  readonly class?: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

export const Check = ({ isOn, set, isFixed, children, ...given }: CheckProps) => (
  <label {...given}>
    <input
      type="checkbox"
      checked={isOn}
      disabled={isFixed}
      onChange={({ currentTarget }) => set(currentTarget.checked)}
    />{' '}
    {children}
  </label>
);
