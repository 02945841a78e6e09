// Every code that people may meet, with what `explain error` says about it: those of commands, and
// those with which the webhook refuses pods.
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
