/** Keys: who has access, and their use. `/keys` is the list, `/keys/<id>` one key. */
import { path } from '../../app/route.ts';
import { KeyList } from './key-list.tsx';
import { KeyPage } from './key-page.tsx';
import './keys.css';

export function Keys() {
  const [, id] = path.value;
  return id === undefined ? <KeyList /> : <KeyPage key={id} id={id} />;
}
