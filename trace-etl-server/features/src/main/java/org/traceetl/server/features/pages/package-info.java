/** Folds sealed windows into cumulative series, and renders these as pages for Prometheus. */
package org.traceetl.server.features.pages;
