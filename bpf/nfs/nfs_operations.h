/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remote procedure calls of NFS clients, by procedure, as operations of a trace.
 */
#pragma once

/*
 * OPERATION(ID, name). After OTHER come the procedures of version 4 in the order of the kernel's
 * numbers for them (NFSPROC4_CLNT_*), as far as all kernels agree: up to NFS_NUMBERED. Then those
 * that are known by their names, and those of version 3 only.
 */
#define NFS_OPERATIONS(OPERATION)                                                                  \
	OPERATION(OTHER, "nfs_other")                                                              \
	OPERATION(PING, "nfs_null")                                                                \
	OPERATION(READ, "nfs_read")                                                                \
	OPERATION(WRITE, "nfs_write")                                                              \
	OPERATION(COMMIT, "nfs_commit")                                                            \
	OPERATION(OPEN, "nfs_open")                                                                \
	OPERATION(OPEN_CONFIRM, "nfs_open_confirm")                                                \
	OPERATION(OPEN_NOATTR, "nfs_open_noattr")                                                  \
	OPERATION(OPEN_DOWNGRADE, "nfs_open_downgrade")                                            \
	OPERATION(CLOSE, "nfs_close")                                                              \
	OPERATION(SETATTR, "nfs_setattr")                                                          \
	OPERATION(FSINFO, "nfs_fsinfo")                                                            \
	OPERATION(RENEW, "nfs_renew")                                                              \
	OPERATION(SETCLIENTID, "nfs_setclientid")                                                  \
	OPERATION(SETCLIENTID_CONFIRM, "nfs_setclientid_confirm")                                  \
	OPERATION(LOCK, "nfs_lock")                                                                \
	OPERATION(LOCKT, "nfs_lockt")                                                              \
	OPERATION(LOCKU, "nfs_locku")                                                              \
	OPERATION(ACCESS, "nfs_access")                                                            \
	OPERATION(GETATTR, "nfs_getattr")                                                          \
	OPERATION(LOOKUP, "nfs_lookup")                                                            \
	OPERATION(LOOKUP_ROOT, "nfs_lookup_root")                                                  \
	OPERATION(REMOVE, "nfs_remove")                                                            \
	OPERATION(RENAME, "nfs_rename")                                                            \
	OPERATION(LINK, "nfs_link")                                                                \
	OPERATION(SYMLINK, "nfs_symlink")                                                          \
	OPERATION(CREATE, "nfs_create")                                                            \
	OPERATION(PATHCONF, "nfs_pathconf")                                                        \
	OPERATION(STATFS, "nfs_statfs")                                                            \
	OPERATION(READLINK, "nfs_readlink")                                                        \
	OPERATION(READDIR, "nfs_readdir")                                                          \
	OPERATION(SERVER_CAPS, "nfs_server_caps")                                                  \
	OPERATION(DELEGRETURN, "nfs_delegreturn")                                                  \
	OPERATION(GETACL, "nfs_getacl")                                                            \
	OPERATION(SETACL, "nfs_setacl")                                                            \
	OPERATION(FS_LOCATIONS, "nfs_fs_locations")                                                \
	OPERATION(RELEASE_LOCKOWNER, "nfs_release_lockowner")                                      \
	OPERATION(SECINFO, "nfs_secinfo")                                                          \
	OPERATION(FSID_PRESENT, "nfs_fsid_present")                                                \
	OPERATION(EXCHANGE_ID, "nfs_exchange_id")                                                  \
	OPERATION(CREATE_SESSION, "nfs_create_session")                                            \
	OPERATION(DESTROY_SESSION, "nfs_destroy_session")                                          \
	OPERATION(SEQUENCE, "nfs_sequence")                                                        \
	OPERATION(GET_LEASE_TIME, "nfs_get_lease_time")                                            \
	OPERATION(RECLAIM_COMPLETE, "nfs_reclaim_complete")                                        \
	OPERATION(LAYOUTGET, "nfs_layoutget")                                                      \
	OPERATION(GETDEVICEINFO, "nfs_getdeviceinfo")                                              \
	OPERATION(LAYOUTCOMMIT, "nfs_layoutcommit")                                                \
	OPERATION(LAYOUTRETURN, "nfs_layoutreturn")                                                \
	OPERATION(SECINFO_NO_NAME, "nfs_secinfo_no_name")                                          \
	OPERATION(TEST_STATEID, "nfs_test_stateid")                                                \
	OPERATION(FREE_STATEID, "nfs_free_stateid")                                                \
	OPERATION(GETDEVICELIST, "nfs_getdevicelist")                                              \
	OPERATION(BIND_CONN, "nfs_bind_conn_to_session")                                           \
	OPERATION(DESTROY_CLIENTID, "nfs_destroy_clientid")                                        \
	OPERATION(SEEK, "nfs_seek")                                                                \
	OPERATION(ALLOCATE, "nfs_allocate")                                                        \
	OPERATION(DEALLOCATE, "nfs_deallocate")                                                    \
	OPERATION(COPY, "nfs_copy")                                                                \
	OPERATION(CLONE, "nfs_clone")                                                              \
	OPERATION(READ_PLUS, "nfs_read_plus")                                                      \
	OPERATION(MKDIR, "nfs_mkdir")                                                              \
	OPERATION(MKNOD, "nfs_mknod")                                                              \
	OPERATION(RMDIR, "nfs_rmdir")                                                              \
	OPERATION(READDIRPLUS, "nfs_readdirplus")                                                  \
	OPERATION(FSSTAT, "nfs_fsstat")

#define NFS_NUMBERED 57

/* PROCEDURE(ID, where its arguments have the file handle), in the order of version 3's numbers. */
#define NFS3_PROCEDURES(PROCEDURE)                                                                 \
	PROCEDURE(PING, NOWHERE)                                                                   \
	PROCEDURE(GETATTR, ITSELF)                                                                 \
	PROCEDURE(SETATTR, FIRST)                                                                  \
	PROCEDURE(LOOKUP, FIRST)                                                                   \
	PROCEDURE(ACCESS, FIRST)                                                                   \
	PROCEDURE(READLINK, FIRST)                                                                 \
	PROCEDURE(READ, SEQUENCE)                                                                  \
	PROCEDURE(WRITE, SEQUENCE)                                                                 \
	PROCEDURE(CREATE, FIRST)                                                                   \
	PROCEDURE(MKDIR, FIRST)                                                                    \
	PROCEDURE(SYMLINK, FIRST)                                                                  \
	PROCEDURE(MKNOD, FIRST)                                                                    \
	PROCEDURE(REMOVE, SEQUENCE)                                                                \
	PROCEDURE(RMDIR, FIRST)                                                                    \
	PROCEDURE(RENAME, SEQUENCE)                                                                \
	PROCEDURE(LINK, FIRST)                                                                     \
	PROCEDURE(READDIR, FIRST)                                                                  \
	PROCEDURE(READDIRPLUS, FIRST)                                                              \
	PROCEDURE(FSSTAT, ITSELF)                                                                  \
	PROCEDURE(FSINFO, ITSELF)                                                                  \
	PROCEDURE(PATHCONF, ITSELF)                                                                \
	PROCEDURE(COMMIT, SEQUENCE)

#define NFS_OPERATION(id, name) SERVED_OPERATION(OP_NFS + NFS_##id, "nfs", name)

#define NFS_ENUM(id, name) NFS_##id,
enum { NFS_OPERATIONS(NFS_ENUM) NFS_OPERATION_COUNT };
#undef NFS_ENUM
