// Completion of command lines. The scripts for the shells contain everything that is in the table.
// They ask the program only for names from a kubeconfig or a cluster.
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

// The directive numbers are Cobra's: kubectl's plug-in completion reads them from the last line,
// ":4".
struct Candidates {
  std::vector<Candidate> list;
  bool files = false;     // the shell also offers file names
  bool folders = false;   // the shell offers only folders
  bool no_space = false;  // the user continues the word after the candidate

  int directive() const { return (no_space ? 2 : 0) | (folders ? 16 : files ? 0 : 4); }
};

// Returns names that are not in the table.
using LiveNames = std::function<std::vector<Candidate>(Live kind, const CursorPlace& place)>;

// The candidates for the last word, which is unfinished and may be empty.
Candidates complete(const std::vector<std::string>& words, const LiveNames& live);

}  // namespace plim::cli
