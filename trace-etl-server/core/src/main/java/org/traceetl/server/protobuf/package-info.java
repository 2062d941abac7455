/** Hand-written protobuf messages in the form that Prometheus reads. */
package org.traceetl.server.protobuf;
