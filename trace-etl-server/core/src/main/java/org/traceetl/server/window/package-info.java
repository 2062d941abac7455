/** The window: what one queue's spans added up to between two offsets, open and sealed. */
package org.traceetl.server.window;
