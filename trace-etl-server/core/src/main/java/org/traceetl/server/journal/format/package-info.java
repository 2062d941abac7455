/** Records of the journal, and their encoding as messages. */
package org.traceetl.server.journal.format;
