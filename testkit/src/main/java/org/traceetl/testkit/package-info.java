/** Starters and clients of real components for tests and measurements. */
package org.traceetl.testkit;
