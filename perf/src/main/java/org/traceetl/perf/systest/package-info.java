/** What all system tests share: their command line, their programs and the documents they find. */
package org.traceetl.perf.systest;
