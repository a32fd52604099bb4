/** The name of the console, with its mark. */
import { ROOT } from './route.ts';

export const Brand = () => (
  <a class="brand" href={`${ROOT}/`}>
    <img src={`${ROOT}/icon.svg`} alt="" />
    plat
  </a>
);
