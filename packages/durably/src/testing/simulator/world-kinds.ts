// What kind of world a seed makes.
import { chance } from './chance.ts'

/** Every tenth world has no faults, to check that without faults nothing runs twice. */
export function isFaultFree(seed: number): boolean {
  return seed % 10 === 0
}

/** Beside some worlds there is one of schedules. */
export function hasSchedules(seed: number): boolean {
  return chance(seed, 'schedules') < 0.2
}

/** Beside some worlds there is one of events. */
export function hasInbox(seed: number): boolean {
  return chance(seed, 'inbox') < 0.2
}

/** Beside some worlds there is one whose workers are a fleet. */
export function hasFleet(seed: number): boolean {
  return chance(seed, 'fleet') < 0.1
}

/** The world of a fleet is not the one beside it: it has a seed of its own. */
export function fleetSeed(seed: number): number {
  return Math.floor(chance(seed, 'seed of the fleet') * 2 ** 32)
}

/** In few worlds processes have async scopes: these slow down all promises. */
export function hasScopes(seed: number): boolean {
  return chance(seed, 'scopes') < 0.1
}

/** In half of the worlds few workers get much work at once; in the others the work arrives over time. */
export function isRushHour(seed: number): boolean {
  return chance(seed, 'rush') < 0.5
}

/** Some worlds have many runs that trigger others, and fail. */
export function isWorldOfFamilies(seed: number): boolean {
  return chance(seed, 'families') < 0.15
}

/** In half of these worlds something often goes wrong just when a run triggers others. */
export function hasInterruptedFamilies(seed: number): boolean {
  return isWorldOfFamilies(seed) && chance(seed, 'interrupted families') < 0.5
}

/** In some worlds runs hold their concurrency key until they end. */
export function isWorldOfHeldKeys(seed: number): boolean {
  return chance(seed, 'held keys') < 0.15
}

/**
 * Few worlds have runs that trigger very many others at once, over a narrow line to the store. They take long to simulate, and are
 * worth most where nothing else goes wrong: there no lease may be lost.
 */
export function isWorldOfCrowds(seed: number): boolean {
  return chance(seed, 'crowds') < (isFaultFree(seed) ? 0.1 : 0.01)
}
