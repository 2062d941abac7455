/** The parts that all system tests share: command line, programs and documents. */
package org.traceetl.perf.systest;
