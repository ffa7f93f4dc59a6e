//! Read/write locks on Redis Cluster, as an attribute for service functions.
