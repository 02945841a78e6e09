// A YAML file whose every mistake is told with its line and column, also inside of documents that
// the file holds as text.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace plim::local::cluster {

// "/nodes" and "role", or a place in a list, as a JSON pointer.
std::string below(std::string_view pointer, std::string_view key);
std::string below(std::string_view pointer, std::size_t place);

class PlacedYaml {
 public:
  static Result<PlacedYaml> parse(std::string_view text, std::string_view name);

  // The document that stands as text at `pointer` of a file. Its positions are those in the file
  // where it is a block of its own, and that of the text where it is not.
  Result<PlacedYaml> inside(const std::string& pointer) const;

  const json::value& value() const { return document_.value(); }

  const json::value* find(std::string_view pointer) const;
  TextPosition at(std::string_view pointer) const;
  Error error(std::string_view pointer, std::string_view message) const;
  // "cluster.yaml:3:1: message", the place being that of the key.
  std::string warning(std::string_view pointer, std::string_view message) const;

  Result<std::string> text(const std::string& pointer) const;
  // The number of elements of a list; nothing and null have none.
  Result<std::size_t> length(const std::string& pointer) const;
  Result<void> want_map(const std::string& pointer, std::string_view what) const;

 private:
  // Where the first line of a block scalar stands in the text around it.
  struct Block {
    int line = 0;  // 0: it is no block, so lines inside of it are none of the text
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
