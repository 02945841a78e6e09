// Completion of command lines: scripts for the shells, with everything the table knows written into
// them, and the program's own answer for names that only a kubeconfig or a cluster knows.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cli/args.hpp"

namespace plim::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

struct Candidate {
  std::string text;
  std::string description = {};
};

// The numbers are Cobra's, which kubectl's plug-in completion reads from the last line ":4".
struct Candidates {
  std::vector<Candidate> list;
  bool files = false;     // the shell's own file names fit
  bool folders = false;   // only folders
  bool no_space = false;  // the word goes on after the candidate

  int directive() const { return (no_space ? 2 : 0) | (folders ? 16 : files ? 0 : 4); }
};

// Names from outside of the table.
using LiveNames = std::function<std::vector<Candidate>(Live kind, const CursorPlace& place)>;

// Everything that fits the last word, which is unfinished and may be empty.
Candidates complete(const std::vector<std::string>& words, const LiveNames& live);

}  // namespace plim::cli
