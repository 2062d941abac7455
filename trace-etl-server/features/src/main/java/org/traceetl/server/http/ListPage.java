package org.traceetl.server.http;

import java.util.List;

/**
 * Part of a list.
 *
 * @param total size of the whole list
 * @param matching how many items the search let pass
 * @param items those asked for
 */
public record ListPage<T>(int total, int matching, List<T> items) {}
