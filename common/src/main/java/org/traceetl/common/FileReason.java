package org.traceetl.common;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** The operating system's reason in a failure of a file, whose message may be only its path. */
public final class FileReason {
  private FileReason() {}

  /** Returns the reason, such as {@code Permission denied}. */
  public static String of(IOException failure) {
    return switch (failure) {
      case NoSuchFileException e -> "No such file or directory";
      case AccessDeniedException e -> "Permission denied";
      case FileAlreadyExistsException e -> "File exists";
      case FileSystemException e when e.getReason() != null -> e.getReason();
      default -> String.valueOf(failure.getMessage());
    };
  }
}
