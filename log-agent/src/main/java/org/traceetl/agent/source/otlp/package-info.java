/** Receives OTLP over gRPC and HTTP and decodes it without an object per span. */
package org.traceetl.agent.source.otlp;
