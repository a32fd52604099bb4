/** Sets the clock of this process so many milliseconds off. */
export function setOff(milliseconds: number): void;
