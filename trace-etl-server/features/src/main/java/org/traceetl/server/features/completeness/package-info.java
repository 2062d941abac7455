/** Until when the spans of applications and queues are complete. */
package org.traceetl.server.features.completeness;
