// YAML as kubectl reads and prints it: parsed by libfyaml into JSON, with the scalar rules of
// sigs.k8s.io/yaml (YAML 1.1 in the dialect of go-yaml v2), and printed from JSON only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/text.hpp"

namespace plim {

// With kubectl the last of several equal keys wins; strict validation of the API server rejects
// them, which shows the mistake.
enum class DuplicateKeys { refuse, last_wins };

struct YamlOptions {
  DuplicateKeys duplicate_keys = DuplicateKeys::refuse;
  std::size_t max_bytes = 32 << 20;
};

// One document: its value as JSON, and for every node its position and local tag. A JSON pointer
// names a node, "/contexts/0/name", or "" for the root. Positions refer to the parsed value, so the
// value cannot be edited in place: copy or take it.
class YamlDocument {
 public:
  const json::value& value() const { return value_; }

  json::value take() && { return std::move(value_); }

  const std::string& source() const { return source_; }

  // The position of the value, or of its key; for a pointer that does not exist, the last existing
  // node of it. A node from an alias or a merge key has the position of its anchor.
  TextPosition position(std::string_view pointer) const;
  TextPosition key_position(std::string_view pointer) const;
  // "KubernetesNode" for a node written as `!KubernetesNode {...}`, "" without a local tag. The tag
  // does not change the value, except that a tagged scalar is always a string.
  std::string_view local_tag(std::string_view pointer) const;

  // "agent.yaml:3:7: message", Code::invalid.
  Error error_at(std::string_view pointer, std::string_view message) const;
  Error error_at_key(std::string_view pointer, std::string_view message) const;

 private:
  friend class YamlBuilder;

  // The children are in the order of the array's elements or the object's members.
  struct Node {
    TextPosition at;
    TextPosition key_at;
    std::shared_ptr<const std::string> tag;
    std::vector<Node> children;
  };

  struct Found {
    const Node& node;  // the last existing one of the path
    bool exact;        // it is the requested one
  };

  Found find_node(std::string_view pointer) const;

  std::string source_;
  json::value value_;
  Node root_;
};

// Exactly one document; empty text is null. At most kMaxJsonDepth levels deep. Rejects what JSON
// does not have (keys that are not scalars, infinity) and aliases that expand too much. Errors name
// `source`, line and column.
Result<YamlDocument> parse_yaml_document(std::string_view text, std::string_view source = "",
                                         YamlOptions options = {});
Result<json::value> parse_yaml(std::string_view text, std::string_view source = "",
                               YamlOptions options = {});
// A stream of documents; skips empty ones, as kubectl does.
Result<std::vector<YamlDocument>> parse_yaml_documents(std::string_view text,
                                                       std::string_view source = "",
                                                       YamlOptions options = {});

// Block style as in `kubectl -o yaml`, except that long lines are not folded. Quotes text that YAML
// 1.1 or 1.2 would read as another type. Keys keep their order; kubectl sorts them (sort_keys).
// Ends with a newline.
std::string to_yaml(const json::value& value);

}  // namespace plim
