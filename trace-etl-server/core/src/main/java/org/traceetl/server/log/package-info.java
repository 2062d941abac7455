/** What keeps the log readable: faults that repeat do not fill it, texts of clients stay texts. */
package org.traceetl.server.log;
