/** Health: whether the service does its work, how much of it and how fast, and what it holds. */
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
