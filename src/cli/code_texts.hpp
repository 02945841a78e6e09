// The texts that `explain error` prints for each code: codes of commands, and codes with which the
// webhook rejects pods.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plim::cli {

struct CodeText {
  std::string code;  // "PLM-1203", "ANN012"
  std::string_view title, meaning, remedy;
};

std::vector<CodeText> code_texts();

}  // namespace plim::cli
