/** Label sets, the counts of series by label set, and the text of a page. */
package org.traceetl.server.ozhera.delta.series;
