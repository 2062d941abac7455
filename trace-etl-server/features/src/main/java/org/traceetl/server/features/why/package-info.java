/** Finds the attribute values that slow or failed spans have more often than other spans. */
package org.traceetl.server.features.why;
