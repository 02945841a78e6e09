// Each verb of the API as an HTTP request, without sending it.
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "kube/client.hpp"
#include "net/http.hpp"

namespace plim::kube {

// Fail with Code::bad_request if a name or a namespace is missing: the path would mean something
// else to the server.
Result<net::Request> get_request(const Resource& resource, const ObjectPath& path);
net::Request list_request(const Resource& resource, const ListOptions& options);
net::Request watch_request(const Resource& resource, const WatchOptions& options);
Result<net::Request> create_request(const Resource& resource, ObjectPath path,
                                    const json::value& object, const WriteOptions& options);
Result<net::Request> update_request(const Resource& resource, const ObjectPath& path,
                                    const json::value& object, const WriteOptions& options);
Result<net::Request> patch_request(const Resource& resource, const ObjectPath& path, PatchType type,
                                   const json::value& patch, const WriteOptions& options);
Result<net::Request> delete_request(const Resource& resource, const ObjectPath& path,
                                    const DeleteOptions& options);
Result<net::Request> delete_collection_request(const Resource& resource, const ListOptions& which,
                                               const DeleteOptions& options);

}  // namespace plim::kube
