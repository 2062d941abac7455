/** What several sources make payloads and texts of values with. */
package org.traceetl.agent.source.payload;
