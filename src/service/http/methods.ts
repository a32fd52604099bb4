/** The methods that every path takes, as `Allow` names them. */
export const ALLOWED = 'GET, HEAD, OPTIONS';
