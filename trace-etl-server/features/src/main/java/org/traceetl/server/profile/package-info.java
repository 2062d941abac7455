/** What a server does by its profile of metrics. */
package org.traceetl.server.profile;
