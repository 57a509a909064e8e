// SPDX-License-Identifier: MIT
/* The one file of a program that makes `f`; tools import it. */
import { initFusion } from 'glovebox';

interface Item {
  id: string;
  risk: number;
}

export interface AppContext {
  db: { records: { findMany(query?: { take?: number }): Promise<Item[]> } };
}

export const f = initFusion<AppContext>();
