package org.traceetl.perf.bench.overhead.app;

/** Where the spans of all applications wait to be exported or read. For one thread. */
interface Outlet {
  /** An application that creates no spans. */
  Outlet NONE =
      new Outlet() {
        @Override
        public void ended(int application, int spans) {}

        @Override
        public boolean hasRoom(int spans) {
          return true;
        }

        @Override
        public void flush() {}

        @Override
        public long dropped() {
          return 0;
        }

        @Override
        public long failed() {
          return 0;
        }
      };

  /** Counts spans that an application has ended. */
  void ended(int application, int spans);

  /** Returns whether no span would be dropped if one application ended so many now. */
  boolean hasRoom(int spans);

  /** Waits until ended spans are exported, at most half a minute. */
  void flush();

  /** Returns the spans dropped so far for lack of room; call it after {@link #flush}. */
  long dropped();

  /** Returns the spans so far whose export failed. */
  long failed();
}
