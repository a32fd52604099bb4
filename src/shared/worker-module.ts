/** The module of a worker next to the one at `url`. Node runs the sources directly, but their published build has another extension. */
export const workerModuleUrl = (url: string, name: string): URL =>
  new URL(`./${name}.${url.endsWith('.ts') ? 'ts' : 'js'}`, url);
