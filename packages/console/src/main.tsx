/** Starts the console in the page that the service delivers. */
import './app/language.ts';
import { render } from 'preact';
import { App } from './app/app.tsx';
import './style/base.css';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
