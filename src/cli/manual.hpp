// Generates manual pages and the reference pages from the table of commands.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace plim::cli {

struct Page {
  std::string file;  // "plimsoll-version.1"
  std::string text;
};

std::vector<Page> manual_pages();
std::vector<Page> reference_pages();  // cli.md and errors.md

}  // namespace plim::cli
