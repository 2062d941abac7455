/** Protobuf messages as Prometheus reads them, written by hand. */
package org.traceetl.server.protobuf;
