/**
 * The records of a view, fetched page by page as a person scrolls: by the link of the previous page if that has been loaded,
 * otherwise by the number of records to skip. The most recently viewed pages are kept.
 */
import { signal } from '@preact/signals';
import { type Answer, ask } from '../../app/api.ts';
import type { Body, Page, Place, Row } from './request.ts';

/** The number of pages that are kept: 20,000 records of a RESO resource. */
const KEPT = 200;
/** The number of concurrent requests. */
const AT_ONCE = 2;
/** The number of records before and after the visible ones that are also requested, to be available when a person scrolls on. */
const AHEAD = 60;

interface Source {
  readonly size: number;
  /** The address of a page on this service. */
  readonly pathAt: (place: Place) => string;
  readonly read: (body: Body, asked: string) => Page;
}

export class Rows {
  /** The number of pages that have arrived; components that read it are rendered again for each page. */
  readonly version = signal(0);
  /** The total number of records; undefined: not known yet. */
  readonly count = signal<number | undefined>(undefined);
  readonly problem = signal<unknown>(undefined);
  /** The latest response, with its duration. */
  readonly latest = signal<Answer<Body> | undefined>(undefined);
  /** The first response. */
  first: Answer<Body> | undefined;
  readonly #source: Source;
  /** By number; the most recently viewed page is the last. */
  readonly #pages = new Map<number, Page>();
  readonly #asked = new Map<number, AbortController>();
  #wanted: readonly number[] = [];
  #isClosed = false;

  constructor(source: Source) {
    this.#source = source;
    this.want(0, 1);
  }

  /** The record at an index; undefined: not loaded yet. */
  at(index: number): Row | undefined {
    const { size } = this.#source;
    return this.#pages.get(Math.floor(index / size))?.rows[index % size];
  }

  /** The number of loaded records. */
  get held(): number {
    return [...this.#pages.values()].reduce((sum, { rows }) => sum + rows.length, 0);
  }

  /** All loaded records, in order. */
  loaded(): readonly Row[] {
    return [...this.#pages].toSorted(([one], [other]) => one - other).flatMap(([, { rows }]) => rows);
  }

  /** Sets which records are visible, from the first to the one after the last. Their pages are requested first. */
  want(from: number, to: number): void {
    const wanted = new Set([
      ...this.#pagesOf(from, to),
      ...this.#pagesOf(to, to + AHEAD),
      ...this.#pagesOf(from - AHEAD, from),
    ]);
    this.#wanted = [...wanted];
    for (const [page, request] of this.#asked) {
      if (wanted.has(page) || page === 0) continue;
      request.abort();
      this.#asked.delete(page);
    }
    this.#fetch();
  }

  #pagesOf(from: number, to: number): readonly number[] {
    const { size } = this.#source;
    const end = Math.min(to, this.count.peek() ?? to);
    const pages: number[] = [];
    for (let page = Math.floor(Math.max(0, from) / size); page * size < end; page += 1) pages.push(page);
    return pages;
  }

  /** Retries failed requests. */
  again(): void {
    this.problem.value = undefined;
    this.#fetch();
  }

  close(): void {
    this.#isClosed = true;
    for (const request of this.#asked.values()) request.abort();
  }

  #fetch(): void {
    if (this.#isClosed || this.problem.value !== undefined) return;
    for (const page of this.#wanted) {
      const known = this.#pages.get(page);
      if (known !== undefined) {
        this.#pages.delete(page);
        this.#pages.set(page, known);
      } else if (!this.#asked.has(page) && this.#asked.size < AT_ONCE) void this.#ask(page);
    }
  }

  async #ask(page: number): Promise<void> {
    const request = new AbortController();
    this.#asked.set(page, request);
    const link = this.#pages.get(page - 1)?.next;
    const path = link ?? this.#source.pathAt({ skip: page * this.#source.size });
    try {
      const answer = await ask<Body>(path, { signal: request.signal });
      if (this.#isClosed || request.signal.aborted) return;
      this.#keep(page, this.#source.read(answer.body, path), answer);
    } catch (error) {
      if (this.#isClosed || request.signal.aborted) return;
      this.problem.value = error;
    }
    this.#asked.delete(page);
    this.version.value += 1;
    this.#fetch();
  }

  #keep(number: number, page: Page, answer: Answer<Body>): void {
    if (number === 0) {
      this.first = answer;
      this.count.value = page.count ?? page.rows.length;
    }
    this.latest.value = answer;
    this.#pages.set(number, page);
    for (const old of this.#pages.keys()) {
      if (this.#pages.size <= KEPT) break;
      if (old !== 0) this.#pages.delete(old);
    }
  }
}
