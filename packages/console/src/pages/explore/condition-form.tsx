/** A form for one condition: a field, an operator, and a value of the field's type. */
import { useState } from 'preact/hooks';
import { Options, Select } from '../../parts/choices.tsx';
import { conditionText, type Operator, operatorInWords, operatorsOf, takesValue } from './conditions.ts';
import { type FieldInfo, titled } from './schema.ts';
import type { InterfaceName } from './view.ts';

interface FormProps {
  readonly name: InterfaceName;
  readonly fields: readonly FieldInfo[];
  readonly values: (field: FieldInfo) => readonly string[] | undefined;
  readonly onAdd: (condition: string) => void;
}

export function ConditionForm({ name, fields, values, onAdd }: FormProps) {
  const [chosen, setChosen] = useState('');
  const [asked, setAsked] = useState<Operator>();
  const [value, setValue] = useState('');
  const field = fields.find((each) => each.name === chosen);
  const operators = field === undefined ? [] : operatorsOf(field);
  const operator = operators.find((each) => each === asked) ?? operators[0];
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (field === undefined || operator === undefined) return;
    onAdd(conditionText(name, field, operator, field.kind === 'boolean' && value === '' ? 'true' : value));
    setChosen('');
    setAsked(undefined);
    setValue('');
  };
  const sorted = fields.toSorted((one, other) => one.label.localeCompare(other.label));
  return (
    <form class="condition" onSubmit={submit}>
      <div>
        <label for="condition-field">Field</label>
        <Select
          id="condition-field"
          value={chosen}
          choose={(name) => {
            setChosen(name);
            setAsked(undefined);
            setValue('');
          }}
          options={[['', 'Choose a field …'], ...sorted.map(titled)]}
        />
      </div>
      {field === undefined || operator === undefined ? null : (
        <>
          <div>
            <label for="condition-operator">Condition</label>
            <Select
              id="condition-operator"
              value={operator}
              choose={(name) => setAsked(operators.find((each) => each === name))}
              options={operators.map((each) => [each, operatorInWords(each, field)])}
            />
          </div>
          {takesValue(operator) ? (
            <div>
              <label for="condition-value">Value</label>
              <ValueInput
                field={field}
                operator={operator}
                value={value}
                values={values(field)}
                onValue={setValue}
              />
            </div>
          ) : null}
          <button type="submit">Add</button>
        </>
      )}
    </form>
  );
}

interface ValueProps {
  readonly field: FieldInfo;
  readonly operator: Operator;
  readonly value: string;
  readonly values: readonly string[] | undefined;
  readonly onValue: (value: string) => void;
}

function ValueInput({ field, operator, value, values, onValue }: ValueProps) {
  const given = {
    id: 'condition-value',
    value,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
      onValue(currentTarget.value),
  };
  const isListed = field.lookup !== undefined || field.values !== undefined;
  if (
    isListed &&
    (operator === 'is' || operator === 'isNot') &&
    (values === undefined || values.length > 0)
  ) {
    return (
      <select {...given} required>
        <option value="">{values === undefined ? 'Loading …' : 'Choose a value …'}</option>
        <Options of={values ?? []} />
      </select>
    );
  }
  switch (field.kind) {
    case 'boolean':
      return (
        <select {...given}>
          <option value="true">Yes</option>
          <option value="false">No</option>
        </select>
      );
    case 'integer':
      return <input {...given} type="number" step={1} required />;
    case 'decimal':
      return <input {...given} type="number" step="any" required />;
    case 'date':
      return <input {...given} type="date" required />;
    case 'timestamp':
      return <input {...given} type="datetime-local" required />;
    case 'text':
    case 'other':
      return <input {...given} type="text" required />;
  }
}
