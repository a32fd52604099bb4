/** Health: whether the service is working, its load and speed, and its content. */
import { PresentState } from './present-state.tsx';
import { ProcessPart } from './process-part.tsx';
import { StorePart } from './store-part.tsx';
import { SurfacesPart } from './surfaces-part.tsx';
import './health.css';

export const Health = () => (
  <div class="health">
    <h1>Health</h1>
    <PresentState />
    <SurfacesPart />
    <ProcessPart />
    <StorePart />
  </div>
);
