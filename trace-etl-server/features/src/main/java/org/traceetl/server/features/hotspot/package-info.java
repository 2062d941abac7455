/** Automatic hotspots: who carries how much, and who is to live on more queues or on fewer. */
package org.traceetl.server.features.hotspot;
