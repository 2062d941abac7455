/** The wire format between agent and server: batches of spans over a dictionary, read in place. */
package org.traceetl.proto;
