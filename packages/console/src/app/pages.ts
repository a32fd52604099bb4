/** The pages of the console, in the order of the navigation. To add a page, add a line here and a file in `pages/`. */
import type { ComponentType } from 'preact';
import { lazily } from '../parts/lazily.tsx';

interface ConsolePage {
  /** The first segment of its address. */
  readonly name: string;
  readonly title: string;
  /** Whether it is in the navigation; other pages are opened from records. */
  readonly isListed: boolean;
  readonly Page: ComponentType;
}

export const PAGES: readonly ConsolePage[] = [
  {
    name: 'explore',
    title: 'Explore',
    isListed: true,
    Page: lazily(async () => (await import('../pages/explore/explore.tsx')).Explore),
  },
  {
    name: 'listing',
    title: 'Listing',
    isListed: false,
    Page: lazily(async () => (await import('../pages/listing/listing.tsx')).Listing),
  },
  {
    name: 'floorplans',
    title: 'Floor plans',
    isListed: true,
    Page: lazily(async () => (await import('../pages/floorplans/floorplans.tsx')).FloorPlans),
  },
  {
    name: 'dictionary',
    title: 'Dictionary',
    isListed: true,
    Page: lazily(async () => (await import('../pages/dictionary/dictionary.tsx')).Dictionary),
  },
  {
    name: 'replication',
    title: 'Replication',
    isListed: true,
    Page: lazily(async () => (await import('../pages/replication/replication.tsx')).Replication),
  },
  {
    name: 'keys',
    title: 'Keys',
    isListed: true,
    Page: lazily(async () => (await import('../pages/keys/keys.tsx')).Keys),
  },
  {
    name: 'health',
    title: 'Health',
    isListed: true,
    Page: lazily(async () => (await import('../pages/health/health.tsx')).Health),
  },
  {
    name: 'roles',
    title: 'Roles',
    isListed: true,
    Page: lazily(async () => (await import('../pages/roles/roles.tsx')).Roles),
  },
];
