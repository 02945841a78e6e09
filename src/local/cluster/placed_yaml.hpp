// A YAML file that reports every mistake with line and column, also inside documents that the file
// holds as text.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace plim::local::cluster {

// Appends a key, or an index of a list, to a JSON pointer: "/nodes" and "role".
std::string below(std::string_view pointer, std::string_view key);
std::string below(std::string_view pointer, std::size_t place);

class PlacedYaml {
 public:
  static Result<PlacedYaml> parse(std::string_view text, std::string_view name);

  // The document that the string at `pointer` contains. Its positions are positions in the file if
  // the string is a block scalar, otherwise all are the position of the string.
  Result<PlacedYaml> inside(const std::string& pointer) const;

  const json::value& value() const { return document_.value(); }

  const json::value* find(std::string_view pointer) const;
  TextPosition at(std::string_view pointer) const;
  Error error(std::string_view pointer, std::string_view message) const;
  // "cluster.yaml:3:1: message", with the position of the key.
  std::string warning(std::string_view pointer, std::string_view message) const;

  Result<std::string> text(const std::string& pointer) const;
  // The number of elements of a list; 0 if it is missing or null.
  Result<std::size_t> length(const std::string& pointer) const;
  Result<void> want_map(const std::string& pointer, std::string_view what) const;

 private:
  // Where the first line of a block scalar is in the surrounding text.
  struct Block {
    int line = 0;  // 0: not a block, so positions inside do not map to lines of the text
    int indent = 0;
  };

  PlacedYaml(YamlDocument document, std::string_view text, std::string_view name)
      : document_(std::move(document)), text_(text), name_(name) {}

  Block block_at(TextPosition scalar) const;
  Error error_inside(const std::string& pointer, const std::string& inner, Block block) const;
  TextPosition outer(TextPosition inner) const;

  YamlDocument document_;
  std::string text_, name_;
  TextPosition scalar_ = {};
  Block block_ = {};
  bool inside_ = false;
};

}  // namespace plim::local::cluster
